import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { Unavailable } from './unavailable.ts'

/** The home of the oldest Java on this machine that is new enough: `setting`, `JAVA_HOME`, the usual places, the `PATH`. */
export function findJava(minVersion: number, setting: string): string {
  const homes = [process.env[setting], process.env['JAVA_HOME'], ...globSync('/usr/lib/jvm/*').sort(), homeOfPath()]
  const fitting = homes
    .filter(home => home !== undefined && existsSync(join(home, 'bin/java')))
    .map(home => ({ home: home!, version: versionOf(join(home!, 'bin/java')) }))
    .filter(({ home, version }) => version >= minVersion || home === process.env[setting])
  const chosen = fitting.find(({ home }) => home === process.env[setting]) ?? fitting.sort((a, b) => a.version - b.version)[0]
  if (chosen === undefined) throw new Unavailable(`no Java ${minVersion} or newer found; install one or set ${setting}`)
  return chosen.home
}

function homeOfPath(): string | undefined {
  const { stderr } = spawnSync('java', ['-XshowSettings:properties', '-version'], { encoding: 'utf8' })
  return /java\.home = (.+)/.exec(stderr ?? '')?.[1]
}

function versionOf(java: string): number {
  const { stderr } = spawnSync(java, ['-version'], { encoding: 'utf8' })
  return Number(/version "(?:1\.)?(\d+)/.exec(stderr ?? '')?.[1] ?? 0)
}

/** Runs Maven, which fetches what a back end needs. */
export function runMaven(args: readonly string[], what: string): void {
  const { error, status, stdout, stderr } = spawnSync('mvn', ['-q', '-B', ...args], { encoding: 'utf8' })
  if (error !== undefined) throw new Unavailable(`${what} is not downloaded yet, and Maven (mvn), which would do it, is not installed`)
  if (status !== 0) throw new Unavailable(`${what} could not be downloaded: ${`${stdout}${stderr}`.trim().slice(-500)}`)
}
