import type { Tail } from './tail.ts'

/** Resolves once the frame is durable. When the write fails, the file stays as it was. */
export async function writeFrame({ file, end }: Tail, frame: Uint8Array): Promise<void> {
  try {
    await file.append(frame, end)
  } catch (error) {
    file.truncate(end)
    throw error
  }
}
