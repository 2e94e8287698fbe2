/** The page says under which path a proxy may serve it: `PUBLIC_URL` of the dashboard. */
const configured = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? ''

/** The path that stands before all paths of the console and of its server, without a slash at its end; empty where the page was opened without it. */
export const BASE_PATH = isBelow(globalThis.location?.pathname ?? '/', configured) ? configured : ''

/** The address of a path of the console or of its server, for people to copy. */
export function addressOf(path: string): string {
  return `${window.location.origin}${BASE_PATH}${path}`
}

function isBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`)
}
