/** The work of `logpipeline backup` in the standalone: it gathers the files; the command copies them. */
import type { CommandHandler } from '../../command-socket/command-socket.ts'
import { type BackUpStore, removeStage, stageBackup } from './stage.ts'

/** Files that one frame names. */
const FILES_A_FRAME = 500

export function createBackupHandler(dataDir: string, backUpStore: BackUpStore | undefined): CommandHandler {
  let isUnderWay = false
  removeStage(dataDir)
  return async (_args, { tell, gone }) => {
    if (isUnderWay) throw new Error('another backup is under way; wait for its end')
    isUnderWay = true
    try {
      const files = await stageBackup(dataDir, backUpStore)
      for (let at = 0; at < files.length; at += FILES_A_FRAME) await tell({ files: files.slice(at, at + FILES_A_FRAME) })
      await tell({ isComplete: true })
      await gone
      return 0
    } finally {
      removeStage(dataDir)
      isUnderWay = false
    }
  }
}
