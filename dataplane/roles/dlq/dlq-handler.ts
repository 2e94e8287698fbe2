/** The work of `logpipeline dlq` in the process that owns the embedded bus. */

import type { CommandHandler } from '../../command-socket/command-socket.ts'
import { BusError } from '../../ports/bus.ts'
import { parseDlqOptions } from './dlq-options.ts'
import { type DlqPlace, runOnBus } from './run-on-bus.ts'

export function createDlqHandler({ bus, settings, clock }: Pick<DlqPlace, 'bus' | 'settings' | 'clock'>): CommandHandler {
  return async (args, { print, stderr }) => {
    const parsed = parseDlqOptions(args, clock.nowMs())
    if (!('config' in parsed)) throw new Error('the arguments are none of this version')
    try {
      await runOnBus(parsed.config, { bus, settings, clock, print, stderr })
      return 0
    } catch (error) {
      if (!(error instanceof BusError)) throw error
      throw new Error(`the message bus failed (${error.reason}): ${error.message}`, { cause: error })
    }
  }
}
