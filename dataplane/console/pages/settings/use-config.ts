/** The ticketing configuration, and changes to it. */
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { problemOf } from '../../api/problem.ts'
import { type ConfigChanges, type ConfigSection, changeConfig, readConfig } from '../../api/ticketing-config.ts'

const KEY = ['ticketing-config']

export function useConfig() {
  return useQuery({ queryKey: KEY, queryFn: ({ signal }) => readConfig(signal) })
}

/** `saved` is what is told once it is stored. */
export function useConfigChange<S extends ConfigSection>(section: S, saved: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (changes: ConfigChanges[S]) => changeConfig(section, changes),
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
