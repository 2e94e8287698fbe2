/** A file on the user's disk: written as it comes where the browser can, else handed over at the end. */

export interface OpenFile {
  readonly name: string
  write(text: string): Promise<void> | void
  close(): Promise<void>
  /** Nothing of it is left. */
  abandon(): Promise<void>
}

interface Writable {
  write(text: string): Promise<void>
  close(): Promise<void>
  abort(): Promise<void>
}

type SavePicker = (options: { readonly suggestedName: string }) => Promise<{ readonly name: string; createWritable(): Promise<Writable> }>

/** Undefined: the user chose no place for it. */
export async function openFile(name: string, type: string): Promise<OpenFile | undefined> {
  const pick = (window as { showSaveFilePicker?: SavePicker }).showSaveFilePicker
  if (pick === undefined || navigator.webdriver) return downloadAtEnd(name, type)
  try {
    const handle = await pick.call(window, { suggestedName: name })
    const file = await handle.createWritable()
    return { name: handle.name, write: text => file.write(text), close: () => file.close(), abandon: () => file.abort() }
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') return undefined
    return downloadAtEnd(name, type)
  }
}

/** Parts are blobs: browsers keep large ones on disk. */
function downloadAtEnd(name: string, type: string): OpenFile {
  const parts: Blob[] = []
  return {
    name,
    write: text => void parts.push(new Blob([text])),
    close: async () => {
      const address = URL.createObjectURL(new Blob(parts, { type }))
      const link = document.createElement('a')
      link.href = address
      link.download = name
      link.click()
      setTimeout(() => URL.revokeObjectURL(address), 60_000)
    },
    abandon: async () => void parts.splice(0),
  }
}
