
if [ "${1-}" = join ]; then
    %{commands}
    exit
fi
