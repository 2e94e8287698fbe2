/** Whether a service's name is one of those that globs name: `*` stands for any characters, `?` for one, all else for itself. */
export function matchesService(globs: readonly string[], service: string): boolean {
  const characters = [...service]
  return globs.some(glob => matchesGlob([...glob], characters))
}

/** In time that grows with the product of both lengths at most: no regular expression, since strangers write globs. */
function matchesGlob(glob: readonly string[], text: readonly string[]): boolean {
  let at = 0
  let textAt = 0
  let star = -1
  let starTextAt = 0
  while (textAt < text.length) {
    if (glob[at] === '*') {
      star = at++
      starTextAt = textAt
    } else if (glob[at] === '?' || glob[at] === text[textAt]) {
      at++
      textAt++
    } else if (star >= 0) {
      // The last star takes one character more.
      at = star + 1
      textAt = ++starTextAt
    } else return false
  }
  while (glob[at] === '*') at++
  return at === glob.length
}
