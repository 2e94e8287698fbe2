/** The page says under which path a proxy may serve it: `PUBLIC_URL` of the dashboard. */
const configured = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? ''

/** The path that stands before all paths of the console and of its server, without a slash at its end; empty where the page was opened without it. */
export const BASE_PATH = isBelow(globalThis.location?.pathname ?? '/', configured) ? configured : ''

function isBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`)
}
