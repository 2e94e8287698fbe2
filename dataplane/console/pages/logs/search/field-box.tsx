/** A box that offers fields by what is typed, and is empty again once one is chosen. */

import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useState } from 'react'
import { ForeignText } from '../../../components/text/foreign-text.tsx'

export interface FieldBoxProps extends Pick<AutocompleteProps, 'maxDropdownHeight' | 'comboboxProps'> {
  readonly label: string
  readonly fields: string[]
  readonly onChoose: (field: string) => void
}

export function FieldBox({ label, fields, onChoose, ...dropdown }: FieldBoxProps) {
  const [text, setText] = useState('')
  return (
    <Autocomplete
      aria-label={label}
      placeholder={label}
      size="xs"
      limit={20}
      data={fields}
      renderOption={({ option }) => <ForeignText text={option.value} />}
      value={text}
      onChange={setText}
      onOptionSubmit={field => {
        onChoose(field)
        setText('')
      }}
      {...dropdown}
    />
  )
}
