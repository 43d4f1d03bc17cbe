// A rolling upgrade: replicas of the release before and of this one serve the same database, under load.
import { execFile } from 'node:child_process'
import { mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { programFile } from '../../test/support/program-bundle.ts'
import { removeFolder } from '../../test/support/remove-folder.ts'
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import { loseReceipt } from '../spoil.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim()

/** CHAOS_RELEASE_BEFORE, a revision of this repository; else the last one that had other tables. */
async function revisionBefore(): Promise<string> {
  const named = process.env['CHAOS_RELEASE_BEFORE']
  if (named !== undefined) return git('rev-parse', '--verify', `${named}^{commit}`)
  const changed = await git('log', '-1', '--format=%H', '--', 'src/store/migrations.ts')
  return git('rev-parse', '--verify', `${changed}^`)
}

/** The source of that release, run with what is installed here. */
async function checkOut(revision: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-release-'))
  await git('--work-tree', folder, 'restore', '--source', revision, '--worktree', '--', '.')
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

export const faults: readonly Fault<CallScene>[] = [
  {
    name: 'a rolling upgrade from the release before',
    command: 'each replica in turn: kill -TERM PID, start of the new release',
    promise:
      'the release before goes on serving after the new one has changed the tables; nothing is lost or done twice',
    notCovered: 'a release that is skipped, and the way back',
    missing: () =>
      revisionBefore().then(
        () => undefined,
        () => 'the history of this repository with the release before (CHAOS_RELEASE_BEFORE)',
      ),
    async open() {
      const release = await checkOut(await revisionBefore())
      return openCalls({
        engine: 'postgres',
        replicas: 2,
        program: join(release, 'test/support/loopback-gateway.ts'),
        cleanUp: () => removeFolder(release),
      })
    },
    async inject({ replicas, load }) {
      for (const replica of replicas) {
        await replica.upgrade(programFile('loopback-gateway'))
        // Both releases side by side, and then the new one alone.
        await load.acknowledge(load.stretch)
      }
    },
    control: loseReceipt,
  },
]
