import { illegalArgument } from '../../api-error.ts'

const UNITS = ['b', 'kb', 'mb', 'gb', 'tb', 'pb'] as const

/** `5.2kb`, or a whole number of the unit that the parameter `bytes` names. */
export function showBytes(bytes: number, query: URLSearchParams): string {
  const unit = query.get('bytes')
  if (unit !== null) {
    const at = UNITS.findIndex(each => each === unit || each[0] === unit)
    if (at < 0) throw illegalArgument(`failed to parse [bytes] with value [${unit}]`)
    return String(Math.floor(bytes / 1024 ** at))
  }
  let at = 0
  let value = bytes
  while (value >= 1024 && at < UNITS.length - 1) {
    value /= 1024
    at++
  }
  return `${at === 0 ? value : Math.floor(value * 10) / 10}${UNITS[at]}`
}
