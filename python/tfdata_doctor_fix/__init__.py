"""Tries the changes that a recording calls for, measures them, and hands over those that helped as a patch.

From a recording to a patch, a file each: `plan` reads which call of which line a change is about; `edits` changes the
text of a file there, on what `source` and `syntax` know of it; `overlay` lets a program run with changed text while
its files stay as they are; `child` is that program's process, and `runner` starts it; `ready` gives it an input that
is ready, and `forecast` predicts with what that measured; `judge` says whether it was faster, `elements` whether its
data are the same; `search` goes from change to change; `outcome` is what it found, which `pages` prints and `patch`
writes.
"""
