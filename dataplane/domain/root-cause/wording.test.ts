import { expect } from 'chai'
import { describe, it } from 'mocha'
import { atLeast, clockTime, duration, listed, quoted, recordsOf, rounded, timesOf } from './wording.ts'

describe('words of reasons', () => {
  it('a message is quoted on one line and cut', () => {
    expect(quoted('order\n  stored ')).to.equal('“order stored”')
    expect(quoted('order lost\nShop.Gone: cart\n\tat com.shop.Carts.find(Carts.java:8)\n\tat com.shop.Main.run(Main.java:3)')).to.equal(
      '“order lost Shop.Gone: cart”',
    )
    expect(quoted('x'.repeat(500))).to.have.length(122)
    expect(quoted('<*> ERROR <*> --- [main] c.s.orders.Charge : no charge')).to.equal('“no charge”')
    const servlet =
      'Servlet.service() for servlet [dispatcherServlet] in context with path [] threw exception [Request processing failed; nested exception is'
    expect(quoted(`${servlet} java.lang.IllegalStateException: No instances available for ts-seat-service] with root cause`)).to.equal(
      '“java.lang.IllegalStateException: No instances available for ts-seat-service”',
    )
    expect(quoted('{"level":"info","ts":<*>,"msg":<*>}')).to.equal('a JSON record (ts, msg)')
    expect(quoted('{"level":"info","msg":"order <*> stored"}')).to.equal('“order <*> stored”')
    expect(quoted('{"level":"info","kind":"order"}')).to.equal('“{"level":"info","kind":"order"}”')
    expect(quoted(' \n')).to.equal('a record without a message')
  })

  it('of a longer message the start is quoted, and the words around its reason', () => {
    const statement = Array.from({ length: 90 }, (_, i) => `column_${String.fromCharCode(97 + (i % 26))}`).join(', ')
    const said = quoted(`could not run INSERT INTO orders (${statement}): could not extend file <*>: No space left on device`)
    expect(said).to.match(/^“could not run INSERT INTO orders … .*could not extend file <\*>: No space left on device”$/)
    expect(said.length).to.be.at.most(122)
    expect(quoted(`no space left on device ${statement}`)).to.match(/^“no space left on device column_a, .*…”$/)
  })

  it('of a longer message without a known reason the innermost error is quoted', () => {
    const wrapped = 'could not publish article <*> of the evening edition to the front page of region north'
    expect(quoted(`${wrapped}: while rendering the teaser: template: hero image has no caption`)).to.equal(
      '“could not publish article <*> of the … of region north: while rendering the teaser: template: hero image has no caption”',
    )
    expect(quoted(`${wrapped}: acme.render.TeaserException: region: hero image has no caption in this language`)).to.match(
      /^“could not publish .* … acme\.render\.TeaserException: region: hero image has no caption in/,
    )
    expect(quoted(`${wrapped} and of all others around it (see: https://acme.example/a/b)`)).to.match(
      /^“could not .* region north and of all.*…”$/,
    )
  })

  it('names are listed, and times told by the clock', () => {
    expect([listed([]), listed(['a']), listed(['a', 'b']), listed(['a', 'b', 'c'])]).to.deep.equal(['', 'a', 'a and b', 'a, b and c'])
    expect(clockTime(Date.UTC(2026, 0, 1, 8, 52, 6))).to.equal('08:52:06 UTC')
  })

  it('numbers and times are as short as they can be', () => {
    expect([rounded(3.07), rounded(1234.5)]).to.deep.equal([3.1, 1235])
    expect([duration(4.56), duration(480), duration(2_130)]).to.deep.equal(['4.6 ms', '480 ms', '2.1 s'])
    expect([recordsOf(0), recordsOf(1), recordsOf(2)]).to.deep.equal(['0 records', '1 record', '2 records'])
    expect([timesOf(1), timesOf(2)]).to.deep.equal(['once', '2 times'])
    expect([atLeast(1), atLeast(2), atLeast(3)]).to.deep.equal(['', ' (twice or more)', ' (3 times or more)'])
  })
})
