/** `unknown` where decorator and class name the same schemas, else a sentence that the compiler prints. */
export type SameSchemas<Decorator, Class> = [Decorator, Class] extends [Class, Decorator]
  ? unknown
  : { error: 'The decorator and the class name different schemas'; decorator: Decorator; class: Class };
