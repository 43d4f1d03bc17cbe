// What the doctor says of a data directory, before anything is in it.
import { mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { checkDataDirectory } from '../../../src/app/doctor/files.ts'
import { removeFolder } from '../../support/remove-folder.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor files-'))
})
afterEach(() => removeFolder(folder))

const look = (dataDir: string) =>
  checkDataDirectory({ config: loadConfig({ GATEWAY_DATA_DIR: dataDir }), running: undefined })

it('is content with a directory that a start would make', async () => {
  expect(await look(join(folder, 'a', 'b'))).toMatchObject([
    { level: 'warn', todo: 'It is made at the first start; nothing to do.' },
  ])
})

it('names a link that leads nowhere, such as to a disk that is not mounted', async () => {
  const link = join(folder, 'link')
  await symlink(join(folder, 'not-mounted'), link)
  for (const dataDir of [link, join(link, 'data')])
    expect(await look(dataDir)).toMatchObject([
      {
        level: 'fail',
        says: `${link} is a link to what does not exist`,
        todo: expect.stringContaining('Mount the disk'),
      },
    ])
})
