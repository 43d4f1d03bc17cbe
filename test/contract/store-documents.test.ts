// Documents that an operator edits: files through lowdb, or rows of PostgreSQL.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { loadConfig } from '../../src/app/config.ts'
import type { DocumentName } from '../../src/store/documents/names.ts'
import { openDocumentStore } from '../../src/store/index.ts'
import type { DocumentKind, DocumentStore } from '../../src/store/ports.ts'
import { createPlace, ENGINES, log, type Place, times } from '../support/store.ts'

const Feeds = z.strictObject({ feeds: z.array(z.url()) })
type Feeds = z.infer<typeof Feeds>
/** Of a name that no document of the gateway has. */
const kind = (name: string): DocumentKind<Feeds> => ({
  name: name as DocumentName,
  parse: (value) => Feeds.parse(value),
  initial: { feeds: [] },
})
const add = (url: string) => (value: Feeds) => ({ feeds: [...value.feeds, url] })
const url = (i: number) => `https://example.com/${i}`

describe.each(ENGINES)('documents in %s', (engine) => {
  let place: Place
  let documents: DocumentStore
  beforeAll(async () => {
    place = await createPlace(engine, 'documents')
    await place.open()
    documents = await openDocumentStore({ config: place.config, log })
  })
  afterAll(async () => {
    await documents.close()
    await place.remove()
  })

  it('starts with the initial value and keeps what an update made of it', async () => {
    const feeds = kind('feeds')
    expect(await documents.read(feeds)).toEqual({ value: { feeds: [] } })
    expect(await documents.update(feeds, add(url(1)))).toEqual({ feeds: [url(1)] })
    expect(await documents.read(feeds)).toEqual({ value: { feeds: [url(1)] } })
    expect(feeds.initial).toEqual({ feeds: [] })
    const again = await openDocumentStore({ config: place.config, log })
    expect(await again.read(feeds)).toEqual({ value: { feeds: [url(1)] } })
    await again.close()
  })

  it('keeps the old document when the new one does not parse or the change throws', async () => {
    const feeds = kind('strict')
    await documents.update(feeds, add(url(1)))
    await expect(documents.update(feeds, () => ({ feeds: ['not a url'] }))).rejects.toThrow()
    const failing = documents.update(feeds, (value) => {
      value.feeds.push('half done')
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await documents.read(feeds)).toEqual({ value: { feeds: [url(1)] } })
  })

  it('puts a text in the place of the one that was read, and of no other', async () => {
    const feeds = kind('text')
    const nothing = await documents.readText(feeds)
    expect(nothing.text).toBeUndefined()
    const text = `{\n  "feeds": ["${url(1)}"]\n}\n`
    expect(await documents.replaceText(feeds, { text, revision: nothing.revision })).toEqual({
      feeds: [url(1)],
    })
    expect(await documents.read(feeds)).toEqual({ value: { feeds: [url(1)] } })
    const written = await documents.readText(feeds)
    expect(written.text).toBe(text)

    for (const { revision } of [nothing, { revision: 'whatever' }])
      await expect(documents.replaceText(feeds, { text: '{"feeds": []}', revision })).rejects.toMatchObject({
        code: 'state_conflict',
      })
    await documents.update(feeds, add(url(2)))
    await expect(documents.replaceText(feeds, { text, revision: written.revision })).rejects.toMatchObject({
      code: 'state_conflict',
    })
    const { revision } = await documents.readText(feeds)
    for (const wrong of ['{"feeds": ["not a url"]}', '{"feeds": [], "feeds": []}', '{'])
      await expect(documents.replaceText(feeds, { text: wrong, revision })).rejects.toThrow()
    expect(await documents.read(feeds)).toEqual({ value: { feeds: [url(1), url(2)] } })
  })

  it('loses no acknowledged update when writers race: a loser is told', async () => {
    const feeds = kind('raced')
    // A second process shares the table; the files of a data directory have one owner.
    const other = engine === 'postgres' ? await openDocumentStore({ config: place.config, log }) : documents
    const results = await Promise.allSettled(
      times(10, (i) => (i % 2 ? other : documents).update(feeds, add(url(i)))),
    )
    const kept = results.flatMap((result, i) => (result.status === 'fulfilled' ? [url(i)] : []))
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'state_conflict' })
    expect((await documents.read(feeds)).value.feeds.toSorted()).toEqual(kept.toSorted())
    expect(kept.length).toBeGreaterThan(0)
    if (other !== documents) await other.close()
  })

  it('refuses to work after close', async () => {
    const closed = await openDocumentStore({ config: place.config, log })
    await closed.close()
    await expect(closed.read(kind('x'))).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

describe('a document file', () => {
  let folder: string
  let documents: DocumentStore
  const feeds = kind('feeds')
  const file = () => join(folder, 'feeds.json')
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-documents-'))
    documents = await openDocumentStore({ config: loadConfig({ GATEWAY_DATA_DIR: folder }), log })
  })
  afterEach(async () => {
    await documents.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('is readable JSON and leaves no temporary file beside it', async () => {
    await documents.update(feeds, add(url(1)))
    expect(await readFile(file(), 'utf8')).toBe(`{\n  "feeds": [\n    "${url(1)}"\n  ]\n}\n`)
    expect(await readdir(folder)).toEqual(['feeds.json'])
  })

  it('is read again after an edit by hand, and goes back to the initial value when it is removed', async () => {
    await documents.update(feeds, add(url(1)))
    await writeFile(file(), JSON.stringify({ feeds: [url(2)] }))
    expect(await documents.read(feeds)).toEqual({ value: { feeds: [url(2)] } })
    expect(await documents.update(feeds, add(url(3)))).toEqual({ feeds: [url(2), url(3)] })
    await rm(file())
    expect(await documents.read(feeds)).toEqual({ value: { feeds: [] } })
  })

  it.each([
    ['broken JSON', '{"feeds": ['],
    ['another shape', '{"feeds": "all of them"}'],
    ['nothing', ''],
  ])('with %s leaves the last good copy in use, says so, and is not overwritten', async (_, content) => {
    await documents.update(feeds, add(url(1)))
    await writeFile(file(), content)
    const { value, problem } = await documents.read(feeds)
    expect(value).toEqual({ feeds: [url(1)] })
    expect(problem).toMatch(/feeds\.json is not valid; the last valid version is used/)
    await expect(documents.update(feeds, add(url(2)))).rejects.toMatchObject({ code: 'state_conflict' })
    expect(await readFile(file(), 'utf8')).toBe(content)
    await writeFile(file(), '{"feeds": []}')
    expect(await documents.read(feeds)).toEqual({ value: { feeds: [] } })
  })

  it('that was never good gives the default and says so', async () => {
    await writeFile(file(), 'hello')
    expect(await documents.read(feeds)).toEqual({
      value: { feeds: [] },
      problem: expect.stringMatching(/the default is used/) as string,
    })
  })

  it('edited while an update is being made is not overwritten', async () => {
    await documents.update(feeds, add(url(1)))
    const { writeFileSync } = await import('node:fs')
    const update = documents.update(feeds, (value) => {
      writeFileSync(file(), JSON.stringify({ feeds: [url(9)] }))
      return add(url(2))(value)
    })
    await expect(update).rejects.toMatchObject({ code: 'state_conflict' })
    expect(await documents.read(feeds)).toEqual({ value: { feeds: [url(9)] } })
  })
})
