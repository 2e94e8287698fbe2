import { ActionIcon, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useCopy } from './use-copy.ts'

export interface CopyButtonProps {
  /** A function where it is known at the click alone. */
  readonly text: string | (() => string)
  /** Names the text to copy: `Copy the command`. */
  readonly label?: string
}

export function CopyButton({ text, label = 'Copy' }: CopyButtonProps) {
  const { isCopied, copy } = useCopy()
  return (
    <Tooltip label={isCopied ? 'Copied' : label}>
      <ActionIcon size="sm" aria-label={isCopied ? 'Copied' : label} onClick={() => copy(typeof text === 'string' ? text : text())}>
        {isCopied ? <IconCheck size={15} /> : <IconCopy size={15} />}
      </ActionIcon>
    </Tooltip>
  )
}
