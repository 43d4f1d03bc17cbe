// What Express does for a page that never changes: the bytes that the gateway sends, compressed beforehand, with its headers. No page
// costs less. `PAGE` names a file with {headers, body in base64}; `listening on <url>` once it is up.
import { readFileSync } from 'node:fs'
import express from 'express'

const { headers, body } = JSON.parse(readFileSync(process.env['PAGE'] ?? '', 'utf8')) as {
  headers: Record<string, string>
  body: string
}
const bytes = Buffer.from(body, 'base64')
const app = express()
app.get('/page', (_req, res) => void res.set(headers).send(bytes))
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address && typeof address === 'object') console.log(`listening on http://127.0.0.1:${address.port}`)
})
process.once('SIGTERM', () => process.exit(0))
