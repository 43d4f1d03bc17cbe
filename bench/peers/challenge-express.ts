// The peer of the challenge benchmark: express answering a constant 402. It is given the very answer that the gateway gave
// (status, headers, body) and sends it to everybody; with `body` in the path it also reads the request as JSON first.
import { readFileSync } from 'node:fs'
import express from 'express'

interface Answer {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const answers = JSON.parse(readFileSync(process.env['ANSWERS_FILE']!, 'utf8')) as readonly Answer[]
const app = express()
app.disable('x-powered-by').disable('etag')
for (const { path, headers, body } of answers) {
  const send: express.RequestHandler = (_req, res) => {
    res.status(402).set(headers).send(body)
  }
  app.post(`/plain${path}`, send)
  app.post(`/body${path}`, express.json(), send)
}
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no address')
  console.log(`listening on http://127.0.0.1:${address.port}`)
})
process.on('SIGTERM', () => process.exit(0))
