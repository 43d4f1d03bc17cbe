// On every page of the console: times as the person's own clock shows them. The server cannot know their zone; the exact time stays in
// the title and in `datetime`.
const language = document.documentElement.lang
const format = new Intl.DateTimeFormat(language === 'ar' ? 'ar-u-nu-latn' : language, {
  dateStyle: 'medium',
  timeStyle: 'short',
})

for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-time]')) {
  const at = Date.parse(time.dateTime)
  if (Number.isNaN(at)) continue
  time.title = time.textContent
  time.textContent = format.format(at)
  time.dir = 'auto'
}
