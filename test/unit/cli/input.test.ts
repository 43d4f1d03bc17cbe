import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readInput } from '../../../src/cli/input.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-input-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('a file that a command is given', () => {
  it('is read', async () => {
    const file = join(folder, 'sample.json')
    await writeFile(file, '{}')
    expect((await readInput('sample', file)).toString()).toBe('{}')
  })

  it('is refused where it is a pipe or a device, which may never end, and the words say what to do', async () => {
    const pipe = join(folder, 'pipe.json')
    execFileSync('mkfifo', [pipe])
    for (const name of [pipe, '/dev/zero'])
      await expect(readInput('sample', name)).rejects.toThrow(/is a pipe or a device.* name - as the file/)
  })
})
