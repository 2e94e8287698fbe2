/** Memory that messages to the bus are written into: new pages for each of several hundred kilobytes cost as much as their copy (measured). */
import { LentBuffers } from '../memory/lent-buffers.ts'

/** Of the thread. The batch that a message went with gives its memory back. */
export const messageMemory = new LentBuffers()
