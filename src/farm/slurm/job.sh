#!/bin/bash
# Made by `throng farm slurm`. Run it with bash to submit it; what sbatch takes comes from these lines or from SBATCH_* variables.
#SBATCH --job-name=%{name}
#SBATCH --array=0-%{last}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --time=%{minutes}
#SBATCH --signal=B:TERM@60
set -u

if [ -z "${SLURM_JOB_ID-}" ]; then
    %{submit}
    exit
fi

# A task that is told to stop keeps what is finished, and is queued again.
render() {
    %{program} render %{scene} --samples %{samples} --device %{device}%{flags} \
        --skip-existing --progress none --stop-code 75 "$@" &
    child=$!
    trap 'kill -TERM "$child"' TERM
    # The first wait ends with the signal, the second with the program.
    wait "$child" || wait "$child"
    code=$?
    if [ "$code" = 75 ]; then
        scontrol requeue "$SLURM_JOB_ID"
        exit 0
    fi
    return "$code"
}
%{join}
frames=(%{chunks})
render %{traced} --frames "${frames[$SLURM_ARRAY_TASK_ID]}"
