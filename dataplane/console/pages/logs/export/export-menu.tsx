/** Saves the records of the search to a file: fetched page by page, with progress, and a way to stop. */
import { Button, Menu, Modal, Progress } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDownload } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { problemOf } from '../../../api/problem.ts'
import { searchLogs } from '../../../api/search.ts'
import { formatCount } from '../../../components/format.ts'
import type { Order, Scope } from '../requests/scope.ts'
import { type ExportFormat, exportName } from './csv.ts'
import { exportRecords, MAX_EXPORTED_RECORDS } from './export-records.ts'
import { openFile } from './save-file.ts'

export interface ExportMenuProps {
  readonly scope: Scope | undefined
  readonly order: Order
  readonly columns: readonly string[]
  readonly total: number | undefined
}

const FORMATS: readonly { readonly format: ExportFormat; readonly title: string; readonly note: string }[] = [
  { format: 'ndjson', title: 'NDJSON', note: 'all fields, a record on each line' },
  { format: 'csv', title: 'CSV', note: 'the columns of the table' },
]

export function ExportMenu({ scope, order, columns, total }: ExportMenuProps) {
  const [written, setWritten] = useState<number>()
  const stop = useRef<AbortController>(undefined)
  const wanted = Math.min(total ?? MAX_EXPORTED_RECORDS, MAX_EXPORTED_RECORDS)

  const run = async (format: ExportFormat) => {
    if (scope === undefined) return
    const controller = new AbortController()
    stop.current = controller
    try {
      const file = await openFile(exportName(format, scope.window.fromMs), format === 'csv' ? 'text/csv' : 'application/x-ndjson')
      if (file === undefined) return
      setWritten(0)
      const chosen = ['timestamp', 'level', ...columns, 'message']
      const result = await exportRecords(
        { scope, order, format, columns: chosen },
        { search: searchLogs, write: file.write, progress: setWritten, signal: controller.signal },
      ).catch(async (cause: unknown) => {
        await file.abandon()
        throw cause
      })
      await file.close()
      notifications.show({
        title: `${formatCount(result.written)} records saved${result.isIncomplete ? ', others are missing' : ''}`,
        message: `${result.isIncomplete ? 'A part of the store could not be read. ' : ''}${
          result.isCut
            ? `There are more than the ${formatCount(MAX_EXPORTED_RECORDS)} of one file: choose a shorter time for the rest.`
            : file.name
        }`,
        ...(result.isIncomplete && { color: 'yellow', autoClose: false }),
      })
    } catch (cause) {
      if (controller.signal.aborted) return
      const { message, whatToDo } = problemOf(cause)
      notifications.show({ title: 'The export failed', message: `${message} ${whatToDo}`, color: 'red', autoClose: false })
    } finally {
      setWritten(undefined)
    }
  }

  return (
    <>
      <Menu position="bottom-end" shadow="md" width={240}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconDownload size={15} aria-hidden />} disabled={scope === undefined}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {FORMATS.map(({ format, title, note }) => (
            <Menu.Item key={format} onClick={() => void run(format)}>
              {title}
              <br />
              <small style={{ color: 'var(--text-faint)' }}>{note}</small>
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={written !== undefined}
        onClose={() => stop.current?.abort()}
        title="Saving records"
        size="sm"
        closeOnClickOutside={false}
      >
        <Progress value={wanted === 0 ? 100 : (100 * (written ?? 0)) / wanted} aria-label="Saving records" />
        <p className="numeric" role="status" style={{ margin: '8px 0 16px' }}>
          {formatCount(written ?? 0)} of {formatCount(wanted)}
        </p>
        <Button variant="default" onClick={() => stop.current?.abort()}>
          Stop
        </Button>
      </Modal>
    </>
  )
}
