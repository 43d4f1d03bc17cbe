// Global setup of `npm run test:upgrade`: the release before and this one, each packed as it was packed in its time, and installed into an empty folder.
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, realpath, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { finish } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'

export interface Release {
  /** A commit, or the name of a tarball. */
  readonly name: string
  /** The file that npm linked. */
  readonly command: string
}

declare module 'vitest' {
  interface ProvidedContext {
    releases: { readonly before: Release; readonly current: Release }
  }
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Tarballs of commits, which never change. */
const CACHE = join(ROOT, 'node_modules/.cache/test-upgrade')

/** What npm tells its scripts about this package would be believed by an npm in another one. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(?:package|lifecycle|config_local_prefix|config_prefix)/.test(name),
  ),
)

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await finish(command, args, { cwd, env: environment })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
  return stdout.trim()
}
const npm = (args: readonly string[], cwd: string) => run('npm', args, cwd)
const git = (...args: readonly string[]) => run('git', args, ROOT)

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const work = await realpath(await mkdtemp(join(tmpdir(), 'gateway-releases-')))
  const remove = () => removeFolder(work)
  try {
    const { name, tarball } = await findBefore(work)
    const { version } = (await import('../../package.json', { with: { type: 'json' } })).default
    // `npm run test:upgrade` has just made it.
    const current = join(ROOT, `build/agent-gateway-${version}.tgz`)
    provide('releases', {
      before: { name, command: await install(tarball, join(work, 'before')) },
      current: { name: version, command: await install(current, join(work, 'current')) },
    })
    return remove
  } catch (thrown) {
    await remove()
    throw thrown
  }
}

/** RELEASE_BEFORE: a tarball, or a revision of this repository; else its newest tag before this commit. */
async function findBefore(work: string): Promise<{ name: string; tarball: string }> {
  const named = process.env['RELEASE_BEFORE'] ?? (await newestTag())
  if (named.endsWith('.tgz')) {
    if (existsSync(named)) return { name: named, tarball: resolve(named) }
    throw new Error(`RELEASE_BEFORE: there is no file ${named}.`)
  }
  const commit = await git('rev-parse', '--verify', '--quiet', `${named}^{commit}`).catch(() => {
    throw new Error(
      `RELEASE_BEFORE: ${named} is neither a tarball (.tgz) nor a commit of this repository. A shallow clone has no history: \`git fetch --unshallow\`.`,
    )
  })
  const kept = join(CACHE, `${commit}.tgz`)
  if (!existsSync(kept)) await pack(commit, join(work, 'source'), kept)
  return { name: commit.slice(0, 8), tarball: kept }
}

const newestTag = () =>
  git('describe', '--tags', '--abbrev=0', 'HEAD^').catch(() => {
    throw new Error(
      'RELEASE_BEFORE is not set, and no tag of this repository says which release was before this one. Name a tarball, a tag or a commit.',
    )
  })

/** Checks the commit out and makes its tarball: the bundle, or what `npm pack` made before there was one. */
async function pack(commit: string, source: string, kept: string): Promise<void> {
  console.log(`packing ${commit} (npm ci, build); kept in ${CACHE}`)
  await git('worktree', 'add', '--quiet', '--detach', source, commit)
  try {
    await npm(['ci'], source)
    const { scripts } = JSON.parse(await git('show', `${commit}:package.json`)) as {
      scripts: Record<string, string>
    }
    const isBundled = scripts['bundle'] !== undefined
    await npm(['run', isBundled ? 'bundle' : 'build'], source)
    if (!isBundled) await npm(['pack'], source)
    const folder = isBundled ? join(source, 'build') : source
    const made = (await readdir(folder)).find((file) => file.endsWith('.tgz'))
    if (made === undefined) throw new Error(`${commit} made no tarball in ${folder}`)
    await mkdir(CACHE, { recursive: true })
    // Whole, or not there.
    await copyFile(join(folder, made), `${kept}.part`)
    await rename(`${kept}.part`, kept)
  } finally {
    await git('worktree', 'remove', '--force', source)
  }
}

/** As an operator installs it, with the dependencies that its manifest names. @returns the command */
async function install(tarball: string, prefix: string): Promise<string> {
  await npm(['install', '--global', '--prefix', prefix, tarball], tmpdir())
  return join(prefix, 'bin/agent-gateway')
}
