// Which form of a page a client wants: HTML for people, Markdown for a model that reads, JSON for a program (RFC 9110, section 12.5.1).

export type Form = 'html' | 'markdown' | 'json'

const FORMS: readonly (readonly [type: string, form: Form])[] = [
  ['text/html', 'html'],
  ['text/markdown', 'markdown'],
  ['application/json', 'json'],
]

/** The form that the client likes best; `usual` where it likes several alike, or says nothing, or nothing that there is. */
export function chooseForm(accept: string | undefined, usual: Form): Form {
  if (accept === undefined) return usual
  const ranges = accept
    .toLowerCase()
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
      const q = parameters.find((parameter) => parameter.startsWith('q='))
      return { type, q: q === undefined ? 1 : Number(q.slice(2)) || 0 }
    })
  const weightOf = (type: string) => {
    const [main] = type.split('/')
    const named = ranges.find((range) => range.type === type)
    return (
      (named ?? ranges.find(({ type }) => type === `${main}/*`) ?? ranges.find(({ type }) => type === '*/*'))
        ?.q ?? 0
    )
  }
  const weights = FORMS.map(([type, form]) => ({ type, form, weight: weightOf(type) }))
  const best = Math.max(...weights.map(({ weight }) => weight))
  if (best === 0) return usual
  const liked = weights.filter(({ weight }) => weight === best)
  // Who names a type wants it more than one that only a star lets in.
  const named = liked.filter(({ type }) => ranges.some((range) => range.type === type))
  const wanted = (named.length > 0 ? named : liked).map(({ form }) => form)
  return wanted.includes(usual) ? usual : (wanted[0] ?? usual)
}
