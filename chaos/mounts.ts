// File systems of one scene: one that is small enough to be filled, and one whose power can be cut.
import { execFile } from 'node:child_process'
import { access, constants, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Mount {
  readonly folder: string
  close(): Promise<void>
}

export interface FillableMount extends Mount {
  /** Takes all the space that is left. */
  fill(): Promise<void>
  free(): Promise<void>
}

export interface PowerMount extends Mount {
  /** What was written so far is on the disk, and stays there. */
  sync(): Promise<void>
  /** Nothing reaches the disk from here on, and what has not reached it is gone. Whoever uses it must have ended before `restore`. */
  cutPower(): Promise<void>
  restore(): Promise<void>
}

/** @returns what is missing here, in words */
export async function missingFor(...programs: readonly string[]): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'mounts and rules for packets need root'
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']
  for (const program of programs) {
    const found = await Promise.all(folders.map((folder) => isFile(join(folder, program))))
    if (!found.includes(true)) return `there is no ${program}`
  }
  return undefined
}

export const isFile = (path: string): Promise<boolean> =>
  access(path, constants.R_OK).then(
    () => true,
    () => false,
  )

export async function mountSmall(megabytes: number): Promise<FillableMount> {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-small-'))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', folder])
  const filler = join(folder, 'filler')
  return {
    folder,
    async fill() {
      // It ends by itself when there is no more space.
      await run('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096']).catch(() => undefined)
    },
    free: () => rm(filler, { force: true }),
    async close() {
      await run('umount', [folder])
      await rm(folder, { recursive: true })
    },
  }
}

/** XFS in a file: it can be told to stop as a disk does that loses its power. */
export async function mountWithPower(megabytes: number): Promise<PowerMount> {
  const base = await mkdtemp(join(tmpdir(), 'chaos-power-'))
  const image = join(base, 'image')
  const folder = join(base, 'disk')
  await writeFile(image, '')
  await run('truncate', ['-s', `${megabytes}M`, image])
  await run('mkfs.xfs', ['-q', image])
  await run('mkdir', [folder])
  const mount = () => run('mount', ['-o', 'loop', image, folder])
  await mount()
  await run('chmod', ['0755', base, folder])
  return {
    folder,
    async sync() {
      await run('sync', ['-f', folder])
    },
    async cutPower() {
      await run('xfs_io', ['-x', '-c', 'shutdown', folder])
    },
    async restore() {
      await run('umount', [folder])
      await mount()
    },
    async close() {
      await run('umount', [folder])
      await rm(base, { recursive: true })
    },
  }
}
