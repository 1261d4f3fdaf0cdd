// Evaluated in the page: what its pure parts calculate, as whether each sentence holds.
(async () => {
  const camera = await import("/camera.js");
  const vectors = await import("/vectors.js");
  const turns = await import("/turns.js");
  const times = await import("/times.js");
  const shell = await import("/shell.js");
  const colours = await import("/colours.js");
  const message = await import("/message.js");

  const near = (a, b) => [a].flat().every((x, i) => Math.abs(x - [b].flat()[i]) < 1e-6);
  const clock = { frames: 49, fps: 24 };
  const pose = { eye: [1, 2, 9], target: [3, 1, -4], up: [0, 1, 0], fov: 50 };
  const flying = camera.fromPose(pose);
  const again = camera.toPose(flying);
  const rolled = camera.toPose(camera.fromPose({ ...pose, up: [0.3, 1, 0.1] }));
  const turned = camera.orbit(flying, pose.target, 0.4, 0.2);
  const project = camera.projector(flying, 16 / 9);
  const aside = [4, 0.5, -3];
  const ray = camera.rayThrough(flying, project(aside).slice(0, 2), 16 / 9);
  const along = aside.map((x, i) => ray.origin[i] + ray.direction[i] * Math.hypot(...aside.map((x, j) => x - ray.origin[j])));
  const top = camera.along(flying, "top");
  const framed = camera.frame(flying, [5, 5, 5], 2, 16 / 9);
  const parallel = camera.toggleParallel(flying);
  const keys = [0, 1, 2].map((time) => ({ id: time, time }));
  const angles = [20, -35, 140];
  const onRing = (angle) => ({ origin: [Math.cos(angle), Math.sin(angle), 5], direction: [0, 0, -1] });
  const added = times.withKey(keys, { id: 9, time: 2 }, clock);

  return {
    "a pose comes back as it was": near(again.eye, pose.eye) && near(again.target, pose.target) && near(again.up, pose.up),
    "a rolled camera stays rolled": near(camera.fromPose(rolled).roll, camera.fromPose({ ...pose, up: [0.3, 1, 0.1] }).roll),
    "the target is in the middle": near(project(pose.target).slice(0, 2), [0.5, 0.5]),
    "what is behind has a negative depth": project([-1, 3, 22])[2] < 0,
    "a ray leads through what is seen there": near(along, aside),
    "an orbit keeps its centre in place": near(camera.projector(turned, 2)(pose.target), camera.projector(flying, 2)(pose.target)),
    "the top view looks down": camera.toPose(top).up.every(Number.isFinite) && camera.basis(top).forward[1] < -0.999,
    "what is framed is in the middle": near(camera.projector(framed, 1.7)([5, 5, 5]).slice(0, 2), [0.5, 0.5]),
    "a parallel camera shows as much at its target": near(camera.spanAt(parallel, 1), camera.spanAt(flying, flying.distance)),
    "another axis is up if the scene says so": near(camera.nearestAxis([0.1, 0, 0.9]), [0, 0, 1]),
    "halfway between is halfway": near(camera.between(flying, camera.fly(flying, 0, 2, 0), 0.5).eye, [1, 3, 9]),
    "coordinates are round": vectors.rounded(1e-16, 12) === 0 && vectors.rounded(-1.59271623, 12) === -1.5927 && vectors.rounded(45.6789012, 0.5) === 45.678901,
    "an arrow follows the pointer": near(camera.nearestOnLine({ origin: [3, 0, 5], direction: [0, 0, -1] }, [0, 0, 0], [1, 0, 0]), 3),
    "a turn about x comes first and one about z last": near(turns.columnsOf([90, 0, 90])[1], [0, 0, 1]) && near(turns.columnsOf([90, 0, 90])[0], [0, 1, 0]),
    "no turn leaves the angles": near(turns.turned(angles, [0, 1, 0], 0), angles),
    "turns about an axis of the world add up": near(turns.columnsOf(turns.turned(turns.turned(angles, [0, 1, 0], 0.7), [0, 1, 0], -0.7)).flat().map((x) => x.toFixed(4)), turns.columnsOf(angles).flat().map((x) => x.toFixed(4))),
    "a steep turn has angles": near(turns.columnsOf(turns.turned([10, 90, 0], [1, 0, 0], 0)).flat().map((x) => x.toFixed(4)), turns.columnsOf([10, 90, 0]).flat().map((x) => x.toFixed(4))),
    "a ring turns by the angle that the pointer goes around it": near(turns.angleAbout([0, 0, 1], [0, 0, 0], onRing(1.1)) - turns.angleAbout([0, 0, 1], [0, 0, 0], onRing(0.4)), 0.7) && turns.angleAbout([1, 0, 0], [0, 0, 0], onRing(0)) === null,
    "the last frame is at the end": times.shareOf(2, clock) === 1 && times.timeAt(1, clock) === 2,
    "times beyond the end are at the end": times.frameAt(99, clock) === 49 && times.frameAt(-1, clock) === 1,
    "the first frame has a label": times.ticks(clock, 900)[0].labelled && times.ticks({ frames: 1, fps: 24 }, 900).length === 1,
    "keys stay in order": near(times.inOrder([{ time: 2 }, { time: 1 }, { time: 1 }], 24).map((key) => key.time), [1, 1 + 0.5 / 24, 2]),
    "a key at a free time stays there": times.withKey(keys, { id: 9, time: 0.5 }, clock)[1].id === 9,
    "a key on another goes between it and the next": near(times.withKey(keys, { id: 9, time: 0 }, clock)[1].time, 0.5),
    "the keys make room at the end": added.length === 4 && added[3].id === 9 && near(added[3].time, 2) && added[2].time < 2,
    "a still scene gets as much time as its flight": near(times.withKey([{ time: 0 }], { time: 0 }, { frames: 1, fps: 24 })[1].time, 1),
    "neighbours exchange their places and keep their times": times.swapped(keys, 0, 1).map((key) => `${key.id}@${key.time}`).join() === "1@0,0@1,2@2",
    "words are quoted for the shell": shell.setFlags({ "a.b": "(1, 2)", c: "it's" }) === "--set 'a.b=(1, 2)' --set 'c=it'\\''s'",
    "colours keep how they are written": colours.textOf("#ff0000", "(1, 1, 1)") === "(1, 0, 0)" && colours.textOf("#ff0000", "x") === '"#ff0000"',
    "colours are encoded": colours.colourOf("(0.5, 0, 1)") === "#bc00ff" && colours.colourOf("(1, 2)") === null,
    "damaged pictures are none": message.parsePicture(new ArrayBuffer(40)) === null,
  };
})();
