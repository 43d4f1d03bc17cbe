import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findRunning, forgetRunning, localUrl, noteRunning, runningFile } from '../../../src/app/running.ts'

describe('the note of a running gateway', () => {
  let folder: string
  const url = 'http://127.0.0.1:4711'
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'running-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('is found while its process lives, and is gone afterwards', async () => {
    await noteRunning(folder, { pid: process.pid, url })
    expect(await findRunning(folder)).toEqual({ pid: process.pid, url })
    expect(statSync(runningFile(folder)).mode & 0o777).toBe(0o600)
    await forgetRunning(folder, process.pid)
    expect(readdirSync(folder)).toEqual([])
  })

  it('counts for nothing when its process is dead', async () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    await noteRunning(folder, { pid, url })
    expect(await findRunning(folder)).toBeUndefined()
  })

  it('is written by processes of one number at once, as in containers that share the directory', async () => {
    await Promise.all(Array.from({ length: 20 }, () => noteRunning(folder, { pid: process.pid, url })))
    expect(await findRunning(folder)).toEqual({ pid: process.pid, url })
    expect(readdirSync(folder)).toEqual(['gateway.json'])
  })

  it('is left alone by a process that did not write it', async () => {
    await noteRunning(folder, { pid: process.pid, url })
    await forgetRunning(folder, process.pid + 1)
    expect(await findRunning(folder)).toBeDefined()
  })

  it.each(['', '{', '{}', '{"pid":0,"url":"http://x"}', '{"pid":1,"url":"file:///etc/passwd"}'])(
    'counts for nothing when it reads %j',
    async (text) => {
      writeFileSync(runningFile(folder), text)
      expect(await findRunning(folder)).toBeUndefined()
    },
  )
})

describe('localUrl', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['localhost', 'http://localhost:80'],
    ['0.0.0.0', 'http://127.0.0.1:80'],
    ['::', 'http://[::1]:80'],
    ['::1', 'http://[::1]:80'],
  ])('reaches a gateway that listens on %s at %s', (host, expected) =>
    expect(localUrl({ host }, 80)).toBe(expected),
  )
})
