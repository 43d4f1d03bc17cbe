// Which files `test` is asked about: what a change brings along must neither hide a sample nor stop the run.
import { once } from 'node:events'
import { mkdir, mkdtemp, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Exit } from '../../../../src/cli/exit.ts'
import { isFaulty, judgeFiles } from '../../../../src/cli/testing/outcome.ts'
import { findSamples, MAX_FILES } from '../../../../src/cli/testing/samples.ts'
import { removeFolder } from '../../../support/remove-folder.ts'

let root: string
let socket: Server | undefined
const at = (name: string) => join(root, name)
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'gateway-samples-'))
  for (const folder of ['all/deep', 'all/node_modules/other', 'all/.git', 'none', 'many'])
    await mkdir(at(folder), { recursive: true })
  for (const file of ['all/b.json', 'all/deep/a.json', 'all/node_modules/other/c.json', 'all/.git/d.json'])
    await writeFile(at(file), '{"target":"https://a.example/"}')
  await writeFile(at('all/readme.md'), 'no sample')
  await symlink(at('all'), at('all/deep/circle'))
  await symlink(at('all/b.json'), at('all/linked.json'))
  await symlink('/dev/zero', at('all/endless.json'))
  await symlink(at('nowhere'), at('all/dangling.json'))
  socket = createServer().listen(at('all/socket.json'))
  await once(socket, 'listening')
  await writeFile(at('all/huge.json'), '')
  await truncate(at('all/huge.json'), 8 * 1024 ** 3)
})
afterAll(async () => {
  socket?.close()
  await removeFolder(root)
})

describe('a folder of samples', () => {
  it('is every .json file in it and below, in order, without circles, sockets, devices and packages of others', async () => {
    expect(await findSamples([at('all')])).toEqual(
      ['b.json', 'dangling.json', 'deep/a.json', 'huge.json', 'linked.json'].map((name) => at(`all/${name}`)),
    )
  })

  it('has a fault for each file that cannot be read or is too long, read or not', async () => {
    const { files } = await judgeFiles(await findSamples([at('all')]), {
      minScore: undefined,
      evaluateAt: undefined,
    })
    expect(files.flatMap((file) => (isFaulty(file) ? [[file.file, file.failure.exitCode]] : []))).toEqual([
      [at('all/dangling.json'), Exit.usage],
      [at('all/huge.json'), Exit.usage],
    ])
  })

  it('is refused where it holds none, and where it holds more than anybody has', async () => {
    await expect(findSamples([at('none')])).rejects.toMatchObject({ exitCode: Exit.data })
    await Promise.all(
      Array.from({ length: MAX_FILES + 1 }, (_, index) => writeFile(at(`many/${index}.json`), '')),
    )
    await expect(findSamples([at('many')])).rejects.toMatchObject({ exitCode: Exit.usage })
  })

  it('is no reason to judge a file twice', async () => {
    expect(await findSamples([at('all/b.json'), at('all/deep'), at('all/b.json')])).toEqual([
      at('all/b.json'),
      at('all/deep/a.json'),
    ])
  })
})
