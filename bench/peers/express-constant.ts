// The least that Express does for a request: a constant, as JSON. `listening on <url>` once it is up.
import express from 'express'

const app = express()
const ANSWER = { ok: true }
app.all('/constant', (_req, res) => void res.json(ANSWER))
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address && typeof address === 'object') console.log(`listening on http://127.0.0.1:${address.port}`)
})
process.once('SIGTERM', () => process.exit(0))
