// What the doctor says of a data directory, before anything is in it.
import { chmod, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { checkDataDirectory, checkKeyFiles } from '../../../src/app/doctor/files.ts'
import { removeFolder } from '../../support/remove-folder.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor files-'))
})
afterEach(() => removeFolder(folder))

const at = (dataDir: string) => ({
  config: loadConfig({ GATEWAY_DATA_DIR: dataDir }),
  running: undefined,
})
const look = (dataDir: string) => checkDataDirectory(at(dataDir))

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

it('quotes what a shell would take apart in the commands that it advises', async () => {
  const dataDir = join(folder, "it's here")
  await mkdir(dataDir)
  await chmod(dataDir, 0o755)
  const quoted = dataDir.replace("'", "'\\''")
  expect((await look(dataDir))[0]).toMatchObject({ level: 'warn', todo: `Close it: chmod 700 '${quoted}'` })
  await writeFile(join(dataDir, 'signing.jwk'), '{}', { mode: 0o644 })
  const [finding] = (await checkKeyFiles(at(dataDir))).filter(({ check }) => check === 'signing key')
  expect(finding?.todo).toContain(`chmod 600 '${quoted}/signing.jwk'`)
})
