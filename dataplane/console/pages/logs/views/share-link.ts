/** Links for others: they name the very time that is seen, so that others see the same later. */
import type { TimeWindow } from '../../../url-state/time-range.ts'

/** The address with the window in the place of its range, and with other parameters; undefined takes one away. */
export function shareLink(
  address: string,
  { fromMs, toMs }: TimeWindow,
  parameters: Readonly<Record<string, string | undefined>> = {},
): string {
  const link = new URL(address)
  const all = { range: undefined, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), ...parameters }
  for (const [name, value] of Object.entries(all))
    if (value === undefined) link.searchParams.delete(name)
    else link.searchParams.set(name, value)
  return link.href
}
