# bash completion for tfdata-doctor, printed by 'tfdata-doctor completions bash'
_tfdata_doctor() {
  local line
  COMPREPLY=()
  compopt +o bashdefault +o default
  while IFS= read -r line; do
    if [[ $line == :files ]]; then compopt -o bashdefault -o default; continue; fi
    line=${line%%$'\t'*}
    if [[ $line == *= ]]; then compopt -o nospace; fi
    COMPREPLY+=("$line")
  done < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -F _tfdata_doctor tfdata-doctor
