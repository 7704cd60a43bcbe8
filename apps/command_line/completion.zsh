#compdef tfdata-doctor
# zsh completion for tfdata-doctor, printed by 'tfdata-doctor completions zsh'
_tfdata-doctor() {
  local line files= tab=$'\t'
  local -a words_offered described open
  for line in ${(f)"$($words[1] complete "${(@)words[2,CURRENT]}" 2> /dev/null)"}; do
    if [[ $line == :files ]]; then
      files=1
    elif [[ ${line%%$tab*} == *= ]]; then
      open+=(${line%%$tab*})
    else
      words_offered+=(${line%%$tab*})
      described+=("${line/$tab/  -- }")
    fi
  done
  compset -P '--*='
  (( $#words_offered )) && compadd -l -d described -a words_offered
  (( $#open )) && compadd -S '' -a open
  if [[ -n $files ]]; then
    compset -P '[a-z]##='
    _files
  fi
}
# Sourced, it registers itself; found in $fpath, its first call is the first completion.
if [[ $funcstack[1] == _tfdata-doctor ]]; then
  _tfdata-doctor "$@"
else
  compdef _tfdata-doctor tfdata-doctor
fi
