import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tryProgram } from '../../../../src/cli/run/trial.ts'
import { removeFolder } from '../../../support/remove-folder.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trial-'))
})
afterAll(() => removeFolder(folder))

const tryOut = (program: string) =>
  tryProgram(program, { PATH: '/usr/bin:/bin', HOME: folder, TMPDIR: folder })

it('says that a program could not be started, instead of how it calls', async () => {
  const program = join(folder, 'curl')
  await expect(tryOut(program)).rejects.toThrow(`There is no program ${program}`)
  await writeFile(program, '#!/bin/sh\n', { mode: 0o644 })
  await expect(tryOut(program)).rejects.toThrow(`${program} could not be started: may this user run it?`)
  await expect(tryOut(join(program, 'curl'))).rejects.toThrow('could not be started')
})

it('judges one that ran and failed by what it called', async () => {
  const program = join(folder, 'git')
  await writeFile(program, '#!/bin/sh\nexit 3\n', { mode: 0o755 })
  expect(await tryOut(program)).toMatchObject([{ level: 'fail' }])
})
