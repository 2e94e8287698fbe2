/** Makes the image of the project as the Dockerfile says, without Docker, and loads it into the node of `hack/backends up kubernetes-node`. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isOwnBackend } from '../../dataplane/testing/real/address.ts'
import { loadImage, tagImage } from '../../dataplane/testing/real/kubernetes-server.ts'

export const PRODUCT_IMAGE = 'localhost/logpipeline:test'
/** The same under another name, as if it were the next release. */
export const NEXT_IMAGE = 'localhost/logpipeline:next'

const PROJECT = resolve(import.meta.dirname, '../..')

/** Takes a minute: compiles, installs the packages of the program. The node holds it under both names; a cluster of somebody else has to hold it already, as that of `hack/kind.sh` does. */
export async function loadProductImage(): Promise<void> {
  if (!isOwnBackend('kubernetes-node')) return
  const root = mkdtempSync(join(tmpdir(), 'logpipeline-image-'))
  try {
    const rootfs = join(root, 'rootfs')
    const app = join(rootfs, 'app')
    execFileSync('sh', [join(PROJECT, 'hack/image/rootfs.sh'), rootfs, process.execPath], { stdio: 'pipe' })
    mkdirSync(app)
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(PROJECT, file), join(app, file))
    const install = ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund']
    execFileSync('npm', install, { cwd: app, stdio: 'pipe' })
    rmSync(join(app, 'node_modules/.bin'), { recursive: true, force: true })
    execFileSync(process.execPath, [join(PROJECT, 'hack/build.ts')], { stdio: 'pipe' })
    cpSync(join(PROJECT, 'dist'), join(app, 'dist'), { recursive: true })
    await loadImage(PRODUCT_IMAGE, imageConfig(readFileSync(join(PROJECT, 'Dockerfile'), 'utf8')), [`${rootfs}=/`])
    await tagImage(PRODUCT_IMAGE, NEXT_IMAGE)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** The configuration of the image by the last stage of the Dockerfile. */
function imageConfig(dockerfile: string): object {
  const lines = dockerfile.replace(/\\\n/g, ' ').split('\n')
  const last = lines.slice(lines.findLastIndex(line => line.startsWith('FROM ')))
  const argument = (name: string) => last.find(line => line.startsWith(`${name} `))!.slice(name.length + 1)
  return {
    Env: argument('ENV').trim().split(/\s+/),
    User: argument('USER'),
    WorkingDir: argument('WORKDIR'),
    Entrypoint: JSON.parse(argument('ENTRYPOINT')),
    Cmd: JSON.parse(argument('CMD')),
  }
}
