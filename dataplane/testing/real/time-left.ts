/** Until the moment that `SUITES_UNTIL` names (seconds since 1970), after which nothing long is begun; without it there is no limit. */
export function timeLeftMs(): number {
  const until = process.env['SUITES_UNTIL']
  return until === undefined ? Number.POSITIVE_INFINITY : Number(until) * 1000 - Date.now()
}

export const NO_TIME_LEFT = 'no time left (SUITES_UNTIL)'
