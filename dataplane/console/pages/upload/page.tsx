/** Files of logs into the pipeline: dropped or chosen, with progress and errors by line. */
import { Button } from '@mantine/core'
import { IconFileUpload } from '@tabler/icons-react'
import { type DragEvent, useRef, useState } from 'react'
import { UploadCommandLine } from '../../components/copy/upload-command-line.tsx'
import { useShortcut } from '../../components/keyboard/use-shortcut.ts'
import { Page, Panel } from '../../components/layout/panel.tsx'
import styles from './upload.module.css'
import { UploadRow } from './upload-row.tsx'
import { useUploads } from './uploads.tsx'

const ACCEPTED = '.json,.jsonl,.ndjson,.log,.txt,.gz,application/json,application/gzip'

export default function UploadPage() {
  const { items, add, stop, clear } = useUploads()
  const isDone = items.some(({ state }) => state.kind !== 'waiting' && state.kind !== 'sending')
  return (
    <Page title="Upload" description="The entries of log files become records like all others">
      <DropZone onFiles={add} />
      {items.length > 0 && (
        <Panel
          title="Files"
          flush
          actions={
            isDone && (
              <Button variant="default" onClick={clear}>
                Clear the list
              </Button>
            )
          }
        >
          <ul className={styles.items} aria-live="polite">
            {items.map(item => (
              <UploadRow key={item.id} item={item} onStop={() => stop(item.id)} />
            ))}
          </ul>
        </Panel>
      )}
      <div className={styles.columns}>
        <Panel title="What is read">
          <dl className={styles.facts}>
            <dt>Forms</dt>
            <dd>A JSON array, one JSON object, or one object a line (NDJSON)</dd>
            <dt>Recognised</dt>
            <dd>
              <code>message</code> <code>level</code> <code>timestamp</code> <code>service</code> <code>trace_id</code> <code>span_id</code>{' '}
              <code>host</code>, and their usual other names. Everything else becomes an attribute.
            </dd>
            <dt>Without a time</dt>
            <dd>An entry gets the time of the upload.</dd>
          </dl>
        </Panel>
        <Panel title="From a terminal">
          <UploadCommandLine data="@app.log.ndjson" />
        </Panel>
      </div>
    </Page>
  )
}

function DropZone({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const choose = () => input.current?.click()
  useShortcut('u', 'Choose files', choose, { group: 'Upload' })
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    onFiles([...event.dataTransfer.files])
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the button within does the same
    <div
      className={styles.zone}
      data-over={isOver}
      onDragOver={event => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <IconFileUpload size={36} stroke={1.3} aria-hidden />
      <p>Drop files here, or</p>
      <Button onClick={choose}>Choose files</Button>
      <p className={styles.faint}>JSON or NDJSON, plain or gzip, up to 1 GiB each</p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={ACCEPTED}
        aria-label="Files of logs"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])])
          currentTarget.value = ''
        }}
      />
    </div>
  )
}
