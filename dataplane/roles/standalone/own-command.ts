import { dirname, join, relative } from 'node:path'

/** How the program is called from `directory`, to be pasted into a terminal: of a checkout, an npm package, or an image. `main` is the file that runs. */
export function ownCommand(main: string, directory: string): string {
  if (main.includes('/node_modules/')) return 'npx logpipeline'
  return main.endsWith('.ts') ? relative(directory, join(dirname(main), '../hack/logpipeline')) : 'logpipeline'
}
