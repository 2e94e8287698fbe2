/** Memory that messages to the bus are written into: new pages for each of several hundred kilobytes cost as much as their copy (measured). */
import { LentBuffers } from '../memory/lent-buffers.ts'

/** Less would leave most of a buffer unused, which the garbage collector counts whole. */
const MIN_BYTES = 256 * 1024

/** One thread has it. A batch gives the memory of its messages back once the bus has them. */
export const messageMemory = new LentBuffers(MIN_BYTES)
