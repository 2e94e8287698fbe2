import { ActionIcon, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

export interface CopyButtonProps {
  readonly text: string
  /** Names the text to copy: `Copy the command`. */
  readonly label?: string
}

export function CopyButton({ text, label = 'Copy' }: CopyButtonProps) {
  const { copied, copy } = useClipboard({ timeout: 2_000 })
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon size="sm" aria-label={copied ? 'Copied' : label} onClick={() => copy(text)}>
        {copied ? <IconCheck size={15} /> : <IconCopy size={15} />}
      </ActionIcon>
    </Tooltip>
  )
}
