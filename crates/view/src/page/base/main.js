// Creates and connects the parts of the page.

import { makeActions } from "./actions.js";
import { App } from "./app.js";
import { Clipboard } from "./clipboard.js";
import { byId } from "./dom.js";
import { Flight } from "./flight.js";
import { Gizmo } from "./gizmo.js";
import { Help } from "./help.js";
import { KeyEditor } from "./key_editor.js";
import { Keyboard } from "./keyboard.js";
import { Overlay } from "./overlay.js";
import { Panel } from "./panel.js";
import { Picture } from "./picture.js";
import { Playback } from "./playback.js";
import { Pointer } from "./pointer.js";
import { Saving } from "./saving.js";
import { Selection } from "./selection.js";
import { Settings } from "./settings.js";
import { Sharing } from "./sharing.js";
import { Stage } from "./stage.js";
import { Status } from "./status.js";
import { Still } from "./still.js";
import { Strip } from "./strip.js";
import { Thumbnails } from "./thumbnails.js";
import { Transport } from "./transport.js";
import { Values } from "./values.js";
import { Viewpoint } from "./viewpoint.js";
import { Waypoints } from "./waypoints.js";

const app = new App();
const view = byId("view");

new Status(app);
new Stage(app, byId("stage"), view);
new Clipboard(app);
const picture = new Picture(app, byId("picture"));
const viewpoint = new Viewpoint(app);
const playback = new Playback(app);
const waypoints = new Waypoints(app, viewpoint, playback);
const thumbnails = new Thumbnails(app, { picture, viewpoint, waypoints, playback });
const flight = new Flight(app, viewpoint, view);
const gizmo = new Gizmo(app, viewpoint);
const pointer = new Pointer(app, { viewpoint, flight, gizmo, view, label: byId("pick") });
const overlay = new Overlay(app, { viewpoint, waypoints, gizmo, canvas: byId("overlay") });
new Strip(app, { playback, waypoints, thumbnails });
new KeyEditor(app, waypoints);

const panel = new Panel(app);
new Selection(app, panel, pointer);
const settings = new Settings(app, { viewpoint, playback, panel });
const values = new Values(app, panel);
new Sharing(app, panel);
const saving = new Saving(app, { waypoints, values });
const still = new Still(app);
const help = new Help();

const actions = makeActions({ app, viewpoint, flight, pointer, playback, waypoints, overlay, panel, settings, saving, still, help });
help.fill(actions);
new Keyboard(actions);
new Transport(app, { playback, waypoints, actions });
panel.show(panel.shown);
// For the browser console and tests.
globalThis.throng = { app, viewpoint, playback, waypoints, settings };
app.connect();
view.focus();
