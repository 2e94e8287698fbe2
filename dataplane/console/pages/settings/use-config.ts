/** The ticketing configuration, and changes to it. */
import { notifications } from '@mantine/notifications'
import { useMutation, useMutationState, useQuery, useQueryClient } from '@tanstack/react-query'
import { problemOf } from '../../api/problem.ts'
import { type ConfigChanges, type ConfigSection, changeConfig, readConfig, type TicketingConfig } from '../../api/ticketing-config.ts'

const KEY = ['ticketing-config']

export function useConfig() {
  return useQuery({ queryKey: KEY, queryFn: ({ signal }) => readConfig(signal) })
}

/** `saved` is what is told once it is stored. */
export function useConfigChange<S extends ConfigSection>(section: S, saved: string) {
  return useChange(section, (changes: ConfigChanges[S]) => changeConfig(section, changes), saved)
}

/** A change of a list, which is sent whole: made on the list as it is stored now, so that what others changed meanwhile stays. */
export function useConfigEdit<S extends ConfigSection, A>(
  section: S,
  saved: string,
  edit: (config: TicketingConfig, asked: A) => ConfigChanges[S],
) {
  return useChange(section, async (asked: A) => changeConfig(section, edit(await readConfig(), asked)), saved)
}

/** Edits of a section that are not stored yet, or not read again, the oldest first. */
export function usePendingEdits<A>(section: ConfigSection): readonly A[] {
  return useMutationState({ filters: { mutationKey: keyOf(section), status: 'pending' }, select: ({ state }) => state.variables as A })
}

const keyOf = (section: ConfigSection) => [...KEY, section]

/** Changes of a section follow each other: one that is asked for while another is stored would be made on the list of before. */
function useChange<A>(section: ConfigSection, mutationFn: (asked: A) => Promise<unknown>, saved: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    mutationKey: keyOf(section),
    scope: { id: keyOf(section).join() },
    onSuccess: () => notifications.show({ color: 'teal', message: saved }),
    onError: error => showFailure('Not saved', error),
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  })
}

export function showFailure(title: string, error: unknown): void {
  const { message, whatToDo, status } = problemOf(error)
  // The message about a declared setting says itself where to change the setting.
  notifications.show({ color: 'red', title, message: status === 409 ? message : `${message} ${whatToDo}`, autoClose: 15_000 })
}
