// The definition of the image, by the rules of Docker's own parser; what the image does is tried by `npm run test:image`.
import { readFileSync } from 'node:fs'
import { validate } from 'dockerfile-utils'
import { expect, it } from 'vitest'

const text = readFileSync(new URL('../../../deploy/image/Containerfile', import.meta.url), 'utf8')

it('has no fault that a linter of Dockerfiles finds', () => {
  expect(validate(text)).toEqual([])
  for (const [from, to] of [
    ['ENTRYPOINT', 'ENTRYPONT'],
    ['HEALTHCHECK --interval=15s', 'HEALTHCHECK --intervall=15s'],
    ['EXPOSE 8402', 'EXPOSE 84O2'],
  ] as const) {
    expect(text).toContain(from)
    expect(validate(text.replace(from, to))).not.toEqual([])
  }
})

it('runs nothing while it is built, begins from nothing, and is not root', () => {
  expect(text).toMatch(/^FROM scratch$/m)
  expect(text).not.toMatch(/^RUN /m)
  expect(text.match(/^USER .*/gm)).toEqual(['USER 65532:65532'])
})

it('passes Node on with the words of its licence', () => {
  expect(text).toMatch(/^COPY node-copyright \/usr\/share\/doc\/nodejs\/copyright$/m)
})
