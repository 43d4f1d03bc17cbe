// What Express does for a constant: a short one, and one as long as the answer of a verification, with the body read.
// `listening on <url>` once it is up.
import express from 'express'

const app = express()
const SHORT = { ok: true }
const LONG = JSON.parse(process.env['ANSWER'] ?? '{}') as object
app.all('/constant', (_req, res) => void res.json(SHORT))
app.post('/same', express.json(), (_req, res) => void res.json(LONG))
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address && typeof address === 'object') console.log(`listening on http://127.0.0.1:${address.port}`)
})
process.once('SIGTERM', () => process.exit(0))
