// Pages of any size that read like ones people write: headings, paragraphs, links.

const sentence = (i: number) =>
  `Paragraph ${i} says that green tea number ${i * 7} is steeped in water of ${60 + (i % 30)} degrees for some minutes. `

/** @param bytes about that long, never longer */
export function pageOf(bytes: number, seed: number): string {
  let body = ''
  for (let i = seed; body.length < bytes - 600; i++)
    body += `${i % 6 === 0 ? `<h2>Part ${i}</h2>` : ''}<p class="t${i % 9}">${sentence(i).repeat(3)}<a href="/p/${i}">more</a></p>\n`
  return `<!doctype html><html lang="en"><head><title>Page ${seed}</title></head><body><nav><a href="/">Home</a></nav><main><h1>Page ${seed}</h1>${body}</main></body></html>`
}
