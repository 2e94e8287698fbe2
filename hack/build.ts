/** Compiles the program and the console to `dist/`, for places where Node does not strip types: packages under `node_modules`, and the container image. */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { resolve } from 'node:path'

/** Folders of files that are no code. */
const PAGES = ['dataplane/roles/dashboard/site/not-built']

process.chdir(resolve(import.meta.dirname, '..'))
const { name, version, type, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))

rmSync('dist', { recursive: true, force: true })
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
execFileSync(
  process.execPath,
  ['node_modules/vite/bin/vite.js', 'build', 'dataplane/console', '--config', 'dataplane/console/vite.config.ts', '--logLevel=warn'],
  {
    stdio: 'inherit',
  },
)
for (const folder of PAGES) cpSync(folder, `dist/${folder}`, { recursive: true })
// The program reads its version two folders above `config`, here as in the sources.
writeFileSync('dist/package.json', `${JSON.stringify({ name, version, type, private: true })}\n`)

const files = globSync('dist/{dataplane,operator}/**/*.js')
const problems = files.flatMap(file => {
  const text = nameCompiledFiles(readFileSync(file, 'utf8'))
  writeFileSync(file, text)
  return findProblems(file, text)
})
for (const problem of problems) console.error(problem)
console.log(`dist: ${files.length} files, ${problems.length} problems`)
process.exit(problems.length === 0 ? 0 : 1)

/** Entries of worker threads are addresses, which the compiler leaves alone. */
function nameCompiledFiles(text: string): string {
  return text.replace(/(new URL\('\.{1,2}\/[^'\n]+)\.ts(', import\.meta\.url\))/g, '$1.js$2')
}

/** Imports that would be missing at run time: sources, and packages that are no dependencies. */
function findProblems(file: string, text: string): readonly string[] {
  const sources = [...text.matchAll(/['"](\.{1,2}\/[^'"\n]+\.ts)['"]/g)].map(([, path]) => `${file}: names the source ${path}`)
  const imports = [...text.matchAll(/^(?:(?:import|export|\})[^'"\n]*\sfrom|import)\s+['"]([^.'"\n][^'"\n]*)['"]/gm)].map(
    match => match[1]!,
  )
  const packages = imports.filter(specifier => !isBuiltin(specifier)).map(packageOf)
  return [...sources, ...packages.filter(used => !(used in dependencies)).map(used => `${file}: imports ${used}, which is no dependency`)]
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
