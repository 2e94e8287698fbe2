/** Whether less than `withinMs` lie between `atMs` and now; not when the clock was set back since, by however much. */
export function isRecent(atMs: number, withinMs: number, nowMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < withinMs
}
