import { ActionIcon, Tooltip } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { TimeRangePicker } from '../../components/time/time-range-picker.tsx'
import { ExportMenu, type ExportMenuProps } from './export/export-menu.tsx'
import styles from './page.module.css'
import { ShareButton, ViewsMenu } from './views/views-menu.tsx'

export interface ToolsProps extends ExportMenuProps {
  readonly link: () => string
  readonly onRefresh: () => void
}

/** Beside the title: what one does with the records as a whole, and their time. */
export function Tools({ link, onRefresh, ...exported }: ToolsProps) {
  return (
    <>
      <div className={styles.tools}>
        <ViewsMenu />
        <ShareButton link={link} />
        <ExportMenu {...exported} />
      </div>
      <TimeRangePicker />
      <Tooltip label="Read again, up to now (r)">
        <ActionIcon variant="default" size={30} aria-label="Read again" onClick={onRefresh}>
          <IconRefresh size={15} />
        </ActionIcon>
      </Tooltip>
    </>
  )
}
