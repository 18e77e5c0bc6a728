package konveyor_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/kaiak/kaiak/rules/konveyor"
)

func Example() {
	rules := fstest.MapFS{"rules.yaml": {Data: []byte(`
- ruleID: stateless-to-scope
  category: mandatory
  effort: 1
  labels: [konveyor.io/source=java-ee, konveyor.io/target=quarkus3+]
  message: "Replace @Stateless of {{name}} by a CDI scope"
  when:
    java.referenced: {pattern: javax.ejb.Stateless, location: ANNOTATION}
`)}}
	project := fstest.MapFS{"src/Shop.java": {Data: []byte("import javax.ejb.*;\n\n@Stateless\nclass Shop {}\n")}}

	set, problems := konveyor.LoadFS(rules, ".")
	for _, p := range problems {
		fmt.Println("not loaded:", p)
	}
	quarkus, err := konveyor.SelectorFor(nil, []string{"quarkus"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := set.Select(quarkus).Run(context.Background(), konveyor.FromFS(project, "/shop"), konveyor.RunOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, in := range result.Incidents {
		fmt.Printf("%s:%d: %s: %s\n", in.FilePath, in.LineNumber, in.Severity, in.Message)
	}
	// Output: src/Shop.java:3: error: Replace @Stateless of Shop by a CDI scope
}
