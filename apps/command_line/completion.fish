# fish completion for tfdata-doctor, printed by 'tfdata-doctor completions fish'
function __tfdata_doctor_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l before (string match -r -- '^--[^=]*=' "$current")
  for line in ($words[1] complete $words[2..] "$current" 2> /dev/null)
    if test "$line" = :files
      __fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current") | string replace -r '^' "$before"
    else
      echo "$before$line"
    end
  end
end
complete -c tfdata-doctor -f -a '(__tfdata_doctor_complete)'
