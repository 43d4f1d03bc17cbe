// What is counted of requests, by a server that answers as it is told.
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OTHER } from '../../../src/telemetry/labels.ts'
import { observeHttp } from '../../../src/telemetry/observe-http.ts'
import type { Labels } from '../../../src/telemetry/port.ts'

let server: Server
let url: string
let answer: (req: IncomingMessage, res: ServerResponse) => void
/** The labels of the next request that is counted. */
let counted: PromiseWithResolvers<Labels>

beforeEach(async () => {
  counted = Promise.withResolvers()
  const observed = observeHttp(
    {
      add() {},
      observe() {},
      record: (_name, _seconds, labels) => counted.resolve(labels),
      tracing: undefined,
    },
    ['/'],
  )
  server = createServer(observed.handle((req, res) => answer(req, res)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

describe('a request that is answered', () => {
  it.each([
    [200, 200, undefined],
    [503, 503, '503'],
    // Behind a base URL the upstream chooses, and so whoever has it.
    [299, OTHER, undefined],
    [555, OTHER, OTHER],
  ])('with %s has the status %s and the error %s', async (status, label, error) => {
    answer = (_req, res) => res.writeHead(status).end()
    await (await fetch(url)).arrayBuffer()
    const labels = await counted.promise
    expect(labels['http.response.status_code']).toBe(label)
    expect(labels['error.type']).toBe(error)
  })
})

describe('a request whose client goes away', () => {
  it.each([
    ['before', undefined],
    ['after', 202],
  ])('%s the head of its answer has the status %s, and is disconnected', async (when, status) => {
    const asked = Promise.withResolvers<void>()
    answer = (_req, res) => {
      if (when === 'after') res.writeHead(202).flushHeaders()
      asked.resolve()
    }
    const request = get(url).on('error', () => {})
    await asked.promise
    request.destroy()
    const labels = await counted.promise
    expect(labels['http.response.status_code']).toBe(status)
    expect(labels['error.type']).toBe('disconnected')
  })
})
