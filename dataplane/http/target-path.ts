/** Scheme and host of a target in absolute form, which servers have to take (RFC 9112, 3.2.2). */
const START = /^https?:\/\/[^/?#]+(?=[/?]|$)/i

/** The path that the target of a request names, in either form, as it was sent and without its query. */
export function pathOfTarget(target: string): string {
  const path = (target.startsWith('/') ? target : target.replace(START, '')).split('?', 1)[0]!
  return path === '' && target !== '' ? '/' : path
}
